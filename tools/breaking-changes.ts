import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { METHODS } from '../infra/contract.ts';
import { command } from './command.ts';

const USAGE = `Usage: npm run breaking-changes -- [--since COMMIT]

Lists the changes of openapi.yaml since COMMIT, by default main, and says of each if it may break clients. Changes of
descriptions, and additions that clients can ignore, are harmless. The exit status is 1 if a change may break clients.`;

/** Keywords that are only for human readers. */
const TEXTS = ['info', 'title', 'summary', 'description', 'example', 'examples', 'deprecated'];
/** Keywords whose value is a map from names to definitions. Clients can ignore a new name. */
const MAPS = ['paths', 'properties', 'headers', 'parameters', 'securitySchemes'];

type JsonObject = Record<string, unknown>;
const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

/** Lists the changes between two versions of openapi.yaml. A changed component is listed at each place that uses it. */
export function findChanges(before: string, after: string): string[] {
  return compare(dereference(before), dereference(after), [], false);
}

/** Compares two objects at `path`. `isMap` is true if their keys are names, such as those of members, not keywords. */
function compare(before: JsonObject, after: JsonObject, path: string[], isMap: boolean): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const opensMap = !isMap && MAPS.includes(key);
    const isText = !isMap && TEXTS.includes(key);
    const [old, current] = [before, after].map((object) => object[key] ?? (opensMap ? {} : undefined));
    if (isDeepStrictEqual(old, current)) return [];
    if (isObject(old) && isObject(current) && !isText) return compare(old, current, [...path, key], opensMap);
    const isOptional = isMap && isObject(current) && current['required'] !== true;
    const isOperation = METHODS.includes(key);
    const isHarmless = isText || (old === undefined && (isOptional || isOperation));
    const action = old === undefined ? 'add' : current === undefined ? 'remove' : 'replace';
    return `${isHarmless ? 'harmless ' : 'MAY BREAK'}  ${action} ${[...path, key].join(' > ')}`;
  });
}

/** Parses the contract. Replaces each reference by its target, and each list of parameters by a map. */
function dereference(text: string): JsonObject {
  const { components, ...contract } = parse(text);
  /** `followed` contains the references that led to the value, because a schema may contain itself. */
  function copy(value: unknown, key: string, followed: string[]): unknown {
    if (!isObject(value)) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => copy(item, '', followed));
      if (key !== 'parameters') return items;
      return Object.fromEntries((items as JsonObject[]).map((item) => [`${item['in']} ${item['name']}`, item]));
    }
    const { $ref, ...rest } = value;
    if (typeof $ref === 'string' && !followed.includes($ref)) {
      const [, , kind = '', name = ''] = $ref.split('/');
      const target = components?.[kind]?.[name];
      if (!target) throw new Error(`The $ref was "${$ref}"; it must be a component of openapi.yaml.`);
      return copy({ ...target, ...rest }, key, [...followed, $ref]);
    }
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, copy(child, name, followed)]));
  }
  return copy({ ...contract, securitySchemes: components?.securitySchemes }, '', []) as JsonObject;
}

if (import.meta.main) {
  const options = { since: { type: 'string', default: 'main' } } as const;
  await command({ usage: USAGE, options }, async ({ since }) => {
    const before = execFileSync('git', ['show', `${since}:openapi.yaml`], { encoding: 'utf8' });
    const changes = findChanges(before, readFileSync('openapi.yaml', 'utf8'));
    console.log(changes.join('\n') || `openapi.yaml has no changes since ${since}.`);
    if (changes.some((change) => change.startsWith('MAY BREAK'))) process.exitCode = 1;
  });
}
