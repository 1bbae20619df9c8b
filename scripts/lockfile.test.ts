import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../local/synthesize.ts';
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

test('no package runs a script as it is installed but those that package.json allows', () => {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);
  const names = scripted.map((path) => path.replace(/.*node_modules\//, ''));
  const { allowScripts, scarfSettings } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  expect(Object.keys(allowScripts)).toEqual(expect.arrayContaining(names));
  // It reports each installation of swagger-ui-dist. npm 11 skips its script; with an older npm the setting turns it off.
  expect([allowScripts['@scarf/scarf'], scarfSettings.enabled]).toEqual([false, false]);
});
