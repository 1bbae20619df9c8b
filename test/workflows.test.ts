import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../local/synthesize.ts';

const directory = join(projectRoot, '.github/workflows');
const workflows = readdirSync(directory);
const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

test.each(workflows)('%s pins each action by its digest, and names its version', (name) => {
  const text = readFileSync(join(directory, name), 'utf8');
  const actions = [...text.matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test.each(workflows)('%s has no more rights than it uses, and runs only scripts that there are', (name) => {
  const text = readFileSync(join(directory, name), 'utf8');
  expect(parse(text)).toMatchObject({ permissions: { contents: 'read' } });
  expect(text).not.toMatch(/secrets\.|aws-access-key/i);
  for (const [, script] of text.matchAll(/npm run (?:--silent )?([\w:]+)/g))
    expect(scripts).toHaveProperty([String(script)]);
});
