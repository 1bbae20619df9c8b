import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { CONTRACT, readOperations } from '../../functions/operations.ts';

/** What the smoke needs to know of an operation of the contract. */
export interface SmokeOperation {
  method: string;
  /** With its parameters in braces, as in `/plants/{id}`. */
  path: string;
  /** With a value in place of each parameter, as in `/plants/1`. */
  samplePath: string;
  /** Whether it has a body of `application/json`. */
  needsJson: boolean;
}

interface Described {
  parameters?: Ref<Parameter>[];
  requestBody?: Ref<{ required?: boolean; content: Record<string, unknown> }>;
}

interface Parameter {
  name: string;
  example?: unknown;
  schema?: Ref<{ example?: unknown; examples?: unknown[] }>;
}

type Ref<Value> = Value & { $ref?: string };

/** The operations of a contract. `npm run generate` writes them beside this: the smoke itself loads no package. */
export function readSmokeOperations(file = CONTRACT): SmokeOperation[] {
  const contract = parse(readFileSync(file, 'utf8'));

  function resolved<Value>(value: Ref<Value>): Value {
    if (value.$ref === undefined) return value;
    const [, ...names] = value.$ref.split('/');
    return resolved(names.reduce((part, name) => part[name], contract));
  }

  return readOperations(file).map(({ method, path }) => {
    const shared: Described = contract.paths[path];
    const own: Described = contract.paths[path][method.toLowerCase()];
    const parameters = [...(own.parameters ?? []), ...(shared.parameters ?? [])].map(resolved);
    const samplePath = path.replaceAll(/\{(.+?)\}/g, (_, name) => {
      const { example, schema = {} } = parameters.find((parameter) => parameter.name === name) ?? {};
      const { examples = [], example: exampleOfSchema } = resolved(schema);
      // 1 is an id, a name and a number.
      return encodeURIComponent(String(example ?? examples[0] ?? exampleOfSchema ?? 1));
    });
    const { required = false, content } = resolved(own.requestBody ?? { content: {} });
    return { method, path, samplePath, needsJson: required && 'application/json' in content };
  });
}
