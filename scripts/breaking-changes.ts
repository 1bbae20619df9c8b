import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { command, WrongArguments } from '../operate/command.ts';
import { changesOf } from './contract-changes.ts';

/* npm run breaking-changes -- --since COMMIT: tells whether what has changed in openapi.yaml may break callers. */

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

function contractAt(commit: string): string {
  try {
    return execFileSync('git', ['show', `${commit}:openapi.yaml`], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    throw new WrongArguments(`--since was "${commit}"; it must be a commit of this repository.`);
  }
}
