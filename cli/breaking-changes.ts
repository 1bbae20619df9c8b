import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { parse } from 'yaml';

/*
 * npm run breaking-changes -- --since COMMIT: lists what has changed in openapi.yaml since a commit. Whatever is removed
 * or changed may break clients; only texts for people and some additions cannot. Exit status 1 if a change may.
 */

/** Keywords that only people read. */
const TEXTS = ['info', 'title', 'summary', 'description', 'example', 'examples', 'deprecated'];
/** Keywords whose value has names as keys. Clients need not know a new name. */
const NAMED = ['paths', 'properties', 'headers', 'parameters', 'securitySchemes'];
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

type Node = Record<string, unknown>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** The changes from one text of the contract to another. A component is compared where it is used. */
export function changesOf(before: string, after: string): string[] {
  return compare(resolved(before), resolved(after), [], false);
}

function compare(before: Node, after: Node, path: string[], keysAreNames: boolean): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const isNamed = !keysAreNames && NAMED.includes(key);
    const isText = !keysAreNames && TEXTS.includes(key);
    const [old, current] = [before, after].map((node) => node[key] ?? (isNamed ? {} : undefined));
    if (isDeepStrictEqual(old, current)) return [];
    if (isNode(old) && isNode(current) && !isText) return compare(old, current, [...path, key], isNamed);
    const isOptional = keysAreNames && isNode(current) && current['required'] !== true;
    const isOperation = path[0] === 'paths' && path.length === 2 && METHODS.includes(key);
    const isHarmless = isText || (old === undefined && (isOptional || isOperation));
    const action = old === undefined ? 'add' : current === undefined ? 'remove' : 'replace';
    return `${isHarmless ? 'harmless ' : 'MAY BREAK'}  ${action} ${[...path, key].join(' > ')}`;
  });
}

/** The contract with each reference replaced by its target, and with parameters keyed by their place and name. */
function resolved(text: string): Node {
  const { components, ...contract } = parse(text);
  function copy(value: unknown, key: string, followed: string[]): unknown {
    if (!isNode(value)) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => copy(item, '', followed));
      const byName = () => Object.fromEntries((items as Node[]).map((item) => [`${item['in']} ${item['name']}`, item]));
      return key === 'parameters' ? byName() : items;
    }
    const { $ref, ...rest } = value;
    if (typeof $ref === 'string' && !followed.includes($ref)) {
      const [, , kind = '', name = ''] = $ref.split('/');
      const target = components?.[kind]?.[name];
      if (!target) throw new Error(`The $ref was "${$ref}"; it must be a component of the same document.`);
      return copy({ ...target, ...rest }, key, [...followed, $ref]);
    }
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, copy(child, name, followed)]));
  }
  return copy({ ...contract, securitySchemes: components?.securitySchemes }, '', []) as Node;
}

if (import.meta.main) {
  const { since = 'main' } = parseArgs({ options: { since: { type: 'string' } } }).values;
  const before = execFileSync('git', ['show', `${since}:openapi.yaml`], { encoding: 'utf8' });
  const changes = changesOf(before, readFileSync('openapi.yaml', 'utf8'));
  console.log(changes.join('\n') || `openapi.yaml has no changes since ${since}.`);
  if (changes.some((change) => change.startsWith('MAY BREAK'))) process.exitCode = 1;
}
