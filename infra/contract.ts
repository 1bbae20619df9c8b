import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** An operation of openapi.yaml. */
export interface Operation {
  /** @example "createPlant" */
  operationId: string;
  /** @example "POST" */
  method: string;
  /** @example "/plants/{id}" */
  path: string;
  /** The operation's folder in `functions/`: its id in kebab case. @example "create-plant" */
  folder: string;
}

/** The keys of a path that are operations (OpenAPI 3.1, "Path Item Object"). */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Reads all operations of the contract, in their order. Throws if an operationId or a path parameter is not supported. */
export function readOperations(
  contract = readFileSync(join(import.meta.dirname, '../openapi.yaml'), 'utf8'),
): Operation[] {
  const { paths } = parse(contract) as { paths: Record<string, Record<string, { operationId?: unknown } | null>> };
  return Object.entries(paths).flatMap(([path, item]) => {
    const [parameter] = /\{(?!\w+\})[^}]*\}/.exec(path) ?? [];
    if (parameter !== undefined) {
      throw new Error(`The path ${path} has ${parameter}; its name must have only letters, digits and underscores.`);
    }
    return Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([key, operation]) => {
        const method = key.toUpperCase();
        const operationId = operation?.operationId;
        // It becomes a part of names in the generated code, such as `CreatePlantEvent`, and of construct ids.
        if (typeof operationId !== 'string' || !/^[a-z][a-zA-Z0-9]*$/.test(operationId)) {
          throw new Error(
            `The operationId of ${method} ${path} was ${JSON.stringify(operationId)}; it must be letters and digits in camelCase, such as "getPlant".`,
          );
        }
        const folder = operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        return { operationId, method, path, folder };
      });
  });
}
