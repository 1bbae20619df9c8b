import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lockfile, withoutEngines } from './lockfile.ts';

test('npm ci has nothing to warn of on Node.js 20 (npm run format mends it)', () => {
  const text = readFileSync(lockfile, 'utf8');
  expect(withoutEngines(text)).toBe(text);
});

test('of a lockfile only the engines go that no script of an installation runs on', () => {
  const engines = { node: '>=24' };
  const before = { '': { engines }, 'node_modules/a': { version: '1.0.0', engines } };
  const after = { '': { engines }, 'node_modules/a': { version: '1.0.0' } };
  const scripted = { 'node_modules/b': { hasInstallScript: true, engines } };
  expect(JSON.parse(withoutEngines(JSON.stringify({ packages: { ...before, ...scripted } })))).toEqual({
    packages: { ...after, ...scripted },
  });
});
