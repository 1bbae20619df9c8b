import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** An operation of the contract. */
export interface Operation {
  /** In camel case, as in `createPlant`. */
  operationId: string;
  /** In upper case, as in `POST`. */
  method: string;
  /** With its parameters in braces, as in `/plants/{id}`. */
  path: string;
  /** The operation's id in kebab case, as in `create-plant`: its folder in `functions/`. */
  folder: string;
}

/** The methods that a path of OpenAPI 3.1 can have ("Path Item Object"); other keys are no operations. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** All operations of the contract, in its order. */
export function readOperations(
  contract = readFileSync(join(import.meta.dirname, '../openapi.yaml'), 'utf8'),
): Operation[] {
  const { paths } = parse(contract) as { paths: Record<string, Record<string, { operationId: string }>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, { operationId }]) => {
        const folder = operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        return { operationId, method: method.toUpperCase(), path, folder };
      }),
  );
}
