import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { merge } from 'allof-merge';
import { apiDiff, type Diff } from 'api-smart-diff';
import { parse } from 'yaml';
import { command, WrongArguments } from '../operate/command.ts';

/*
 * npm run breaking-changes -- --since COMMIT: tells whether what has changed in openapi.yaml may break callers. The
 * library finds each change. Its own word that one is harmless counts only for the kinds of changes below, since of
 * others it is wrong: a member of an answer that is gone or has another type, or a parameter that becomes required.
 */

export interface Change {
  /** What was done, and where in the contract: "add paths > /plants > get". */
  change: string;
  mayBreak: boolean;
}

const BOUNDS = '(maximum|minimum|exclusiveMaximum|exclusiveMinimum|maxLength|minLength|pattern)';

const HARMLESS = [
  /^add paths > \S+ > (get|put|post|delete|options|head|patch|trace)$/,
  /^add .+ > requestBody > content > \S+$/,
  /^add .+ > requestBody > .+ > properties > [^>]+$/,
  /^remove .+ > requestBody > .+ > required > \d+$/,
  new RegExp(`^(remove|replace) .+ > requestBody > .+ > ${BOUNDS}$`),
  /^add .+ > responses > \d+ > headers > [^>]+$/,
  /^add .+ > responses > .+ > (properties|required) > [^>]+$/,
  new RegExp(`^(add|replace) .+ > responses > .+ > ${BOUNDS}$`),
  /^add security > [1-9]\d*$/,
];

/** One, or the list of an operation that had none; harmless where none is required. */
const PARAMETERS = /^add paths > \S+ > \w+ > parameters( > \d+)?$/;

/** What generated clients are named by, and where they send; the library takes both for words. */
const NOT_ONLY_WORDS = / > (operationId|url)$/;

const EXAMPLE = / > content > \S+ > examples?( >|$)/;

/** The changes from one text of the contract to another. Throws a sentence where one is no YAML. */
export function changesOf(before: string, after: string): Change[] {
  return (
    apiDiff(withoutAllOf(before), withoutAllOf(after))
      // A schema is compared where it is used. What a scheme does is told by who uses it, too.
      .filter(({ action, path: [first, second] }) => {
        return first !== 'components' || (second === 'securitySchemes' && action !== 'add');
      })
      .map((diff) => ({ change: described(diff), mayBreak: !isHarmless(diff) }))
  );
}

/** Merged, since the library compares the parts of an `allOf` one by one: it would not see what another part says. */
function withoutAllOf(text: string): unknown {
  return merge(parse(text));
}

function described({ action, path }: Diff): string {
  return `${action} ${path.join(' > ')}`;
}

function isHarmless(diff: Diff): boolean {
  const { type, after } = diff;
  const change = described(diff);
  if (EXAMPLE.test(change) || type === 'deprecated') return true;
  if (type === 'annotation') return !NOT_ONLY_WORDS.test(change);
  if (type !== 'non-breaking') return false;
  if (PARAMETERS.test(change)) return [after].flat().every(({ required }) => !required);
  return HARMLESS.some((pattern) => pattern.test(change));
}

if (import.meta.main) {
  const usage = `Usage: npm run breaking-changes -- --since COMMIT

Tells whether what has changed in openapi.yaml since a commit may break callers; exit status 1 if so.`;
  await command({ usage, options: { since: { type: 'string' } } }, async ({ since }) => {
    if (since === undefined) throw new WrongArguments('--since is missing; it must be a commit of this repository.');
    const changes = changesOf(contractAt(since), readFileSync('openapi.yaml', 'utf8'));
    if (changes.length === 0) return console.log(`Nothing that openapi.yaml says has changed since ${since}.`);
    for (const { change, mayBreak } of changes) console.log(`${mayBreak ? 'MAY BREAK' : 'harmless '}  ${change}`);
    const breaking = changes.filter(({ mayBreak }) => mayBreak).length;
    if (breaking > 0) throw new Error(`${breaking} of ${changes.length} changes may break callers.`);
    console.log('No caller breaks.');
  });
}

function contractAt(commit: string): string {
  try {
    return execFileSync('git', ['show', `${commit}:openapi.yaml`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    throw new WrongArguments(`--since was "${commit}"; it must be a commit of this repository.`);
  }
}
