import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import { parse } from 'yaml';
import { projectRoot } from '../tools/project-root.ts';

/** The keys of a path that are operations (OpenAPI 3.1, "Path Item Object"). */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/**
 * The parts of an OpenAPI document that this project reads, as they are in a valid one: a test validates openapi.yaml.
 * `parseContract` checks only that there are paths.
 */
export interface Contract {
  paths: OpenAPIV3_1.PathsObject;
  components?: OpenAPIV3_1.ComponentsObject;
}

/** An operation of the contract. */
export interface Operation {
  /** @example "createPlant" */
  operationId: string;
  /** @example "POST" */
  method: string;
  /** @example "/plants/{id}" */
  path: string;
  /** The folder of its code, from the project's root: its id in kebab case. @example "functions/create-plant" */
  folder: string;
}

/** Returns the text of openapi.yaml in the folder `root`. Default: this project. */
export function contractText(root = projectRoot): string {
  return readFileSync(join(root, 'openapi.yaml'), 'utf8');
}

/**
 * Parses a contract. Integers beyond 2^53, which only examples can have, are rounded.
 *
 * @throws if the text is not YAML, or has no `paths`
 */
export function parseContract(text = contractText()): Contract {
  const contract: Contract | null = parse(text);
  if (contract?.paths) return contract;
  throw new Error('The contract has no paths.');
}

/**
 * Returns all operations of a contract, in their order.
 *
 * @param parent the folder that contains their folders
 * @throws if an operationId or a path parameter is not supported
 */
export function readOperations({ paths } = parseContract(), parent = 'functions'): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    const [parameter] = /\{(?!\w+\})[^}]*\}/.exec(path) ?? [];
    if (parameter !== undefined) {
      throw new Error(`The path ${path} has ${parameter}; its name must have only letters, digits and underscores.`);
    }
    const methods = Object.keys(item ?? {}).filter((key) => METHODS.some((method) => method === key));
    return methods.map((key) => {
      const method = key.toUpperCase();
      const { operationId } = operationObject({ paths }, { method, path });
      // It becomes a part of names in the generated code, such as `CreatePlantEvent`, and of construct ids.
      if (typeof operationId !== 'string' || !/^[a-z][a-zA-Z0-9]*$/.test(operationId)) {
        throw new Error(
          `The operationId of ${method} ${path} was ${JSON.stringify(operationId)}; it must be letters and digits in camelCase, such as "getPlant".`,
        );
      }
      const folder = `${parent}/${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      return { operationId, method, path, folder };
    });
  });
}

/**
 * Returns what the contract says about an operation. Its parameters include those of its path.
 *
 * @throws if a parameter is a `$ref`
 */
export function operationObject({ paths }: Contract, { method, path }: Pick<Operation, 'method' | 'path'>) {
  const { parameters = [], ...item } = paths[path] ?? {};
  const object = item[method.toLowerCase() as (typeof METHODS)[number]];
  const all = [...parameters, ...(object?.parameters ?? [])].map((parameter) => {
    if ('$ref' in parameter)
      throw new Error(
        `A parameter of ${method} ${path} is a $ref; write the parameter out, because only a schema may be a $ref.`,
      );
    return parameter;
  });
  return { ...object, parameters: all };
}

/** Returns an operation's id in PascalCase, such as `CreatePlant`, as a part of construct ids and of types' names. */
export function pascalCaseId({ operationId }: Pick<Operation, 'operationId'>): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
}
