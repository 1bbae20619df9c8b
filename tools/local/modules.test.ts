import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchModules } from './modules.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'plant-store-')));
const write = (file: string, text: string) => writeFileSync(join(root, file), text);
write('a.ts', "import { b } from './b.ts';\nexport const a: string = b;\n");
write('b.ts', "export const b = '1';\n");
write('c.ts', 'export const c = {};\n');
const before = { NODE_ENV: process.env['NODE_ENV'], ...listeners() };
const modules = await watchModules(root, (file) => file.includes('.yaml'));
await modules.watching;
const importA = () => modules.import<{ a: string }>('/a.ts');
const importC = () => modules.import<{ c: object }>('/c.ts');

/** Returns how many listeners there are for signals and connections. */
function listeners() {
  const ports = process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  return { ports, signals: ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal)) };
}

/** Waits until files have changed, and invalidates their modules. Returns their names. */
async function changedFiles(): Promise<string[]> {
  await modules.nextChange();
  const changes = await modules.settledChanges();
  for (const [file, event] of changes) modules.invalidate(file, event);
  return [...changes.keys()].map((file) => file.replace(`${root}/`, ''));
}

test('opens no port, listens to no signal, and keeps NODE_ENV', async () => {
  expect((await importA()).a).toBe('1');
  expect({ NODE_ENV: process.env['NODE_ENV'], ...listeners() }).toEqual(before);
});

test.each<[string, (text: string) => void]>([
  ['written', (text) => write('b.ts', text)],
  ['replaced', (text) => [write('b.ts~', text), renameSync(join(root, 'b.ts~'), join(root, 'b.ts'))]],
])('imports a file that is %s again, and what imports it, but no other module', async (name, save) => {
  const { c } = await importC();
  for (const value of [`${name} 1`, `${name} 2`]) {
    save(`export const b = '${value}';\n`);
    expect(await changedFiles()).toEqual(['b.ts']);
    expect((await importA()).a).toBe(value);
  }
  expect((await importC()).c).toBe(c);
});

test('notices other sources, but no logs, data and generated files', async () => {
  mkdirSync(join(root, '.local'));
  for (const file of ['x.log', '.local/x.yaml', 'x.generated.ts', 'new.ts', 'x.yaml']) write(file, '');
  expect(await changedFiles()).toEqual(['x.yaml']);
});

test('imports a module again that could not be loaded, after a new file, each time', async () => {
  write('a.ts', "export { e as a } from './e.yaml.ts';\n");
  for (const value of ['1', '2']) {
    expect(await changedFiles()).toContain(value === '1' ? 'a.ts' : 'e.yaml.ts');
    expect(await importA().catch(String)).toContain('./e.yaml.ts');
    write('e.yaml.ts', `export const e = '${value}';\n`);
    expect(await changedFiles()).toEqual(['e.yaml.ts']);
    expect((await importA()).a).toBe(value);
    rmSync(join(root, 'e.yaml.ts'));
  }
});

test.each([
  ['a syntax error', 'const x = ;', /^\[PARSE_ERROR\] Unexpected token\n.*f\.ts:1:11/],
  ['an error', "throw new Error('x', { cause: new Error('y') });", /^Error: x\n +at .*f\.ts:.*\[cause\]: Error: y\n/s],
])('says where %s is, without the stack frames of Node.js and Vite', async (_, text, message) => {
  write('f.ts', text);
  modules.invalidate(join(root, 'f.ts'));
  const reason = await modules.import('/f.ts').catch(({ message }) => message);
  expect(reason).toMatch(message);
  expect(reason).not.toMatch(/node:|node_modules\/vite\//);
});
