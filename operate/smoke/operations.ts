import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { CONTRACT, readOperations } from '../../functions/operations.ts';

/** What the smoke needs to know of an operation of the contract. */
export interface SmokeOperation {
  method: string;
  /** With its parameters in braces, as in `/plants/{id}`. */
  path: string;
  /** With the example of each parameter in its place, as in `/plants/1`; 1 where the operation gives none. */
  samplePath: string;
  /** Whether it wants a body, of `application/json`. */
  needsJson: boolean;
}

interface Described {
  parameters?: { name?: string; example?: unknown; schema?: { examples?: unknown[] } }[];
  requestBody?: { required?: boolean; content: Record<string, unknown> };
}

/** The operations of a contract. `npm run generate` writes them beside this: the smoke itself loads no package. */
export function readSmokeOperations(file = CONTRACT): SmokeOperation[] {
  const contract: { paths: Record<string, Record<string, Described>> } = parse(readFileSync(file, 'utf8'));
  return readOperations(file).map(({ method, path }) => {
    const { parameters = [], requestBody } = contract.paths[path]?.[method.toLowerCase()] ?? {};
    const samplePath = path.replaceAll(/\{(.+?)\}/g, (_, name) => {
      const { example, schema } = parameters.find((parameter) => parameter.name === name) ?? {};
      return encodeURIComponent(String(example ?? schema?.examples?.[0] ?? 1));
    });
    const needsJson = requestBody?.required === true && 'application/json' in requestBody.content;
    return { method, path, samplePath, needsJson };
  });
}
