import { PassThrough } from 'node:stream';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { runCommand } from '../test/support/command.ts';
import { startEngine } from '../test/support/engine.ts';

const engine = closedAtEnd(await startEngine());
beforeEach(() => engine.clear(engine.plantsTable));

test('lists all plants with exact ids in pages of 20, and cuts long values', async () => {
  expect(await runCommand('plants', [])).toMatchObject({ code: 0, stdout: '' });
  await engine.put(engine.plantsTable, { id: { N: '9223372036854775807' }, name: { S: 'a "b"\n' }, tag: { S: '' } });
  for (let id = 1; id <= 24; id += 1) await engine.put(engine.plantsTable, { id: { N: String(id) }, name: { S: 'x' } });
  await engine.put(engine.plantsTable, { id: { N: '0' }, name: { S: 'x'.repeat(1000) } });
  const { code, stdout, stderr } = await runCommand('plants', []);
  const lines = stdout.trimEnd().split('\n');
  const names = ['ID', 'NAME', 'TAG'];
  expect(lines.filter((line) => line.split(/ +/).join() === names.join())).toHaveLength(2);
  expect(lines).toContainEqual(expect.stringMatching(/^9223372036854775807( +-)* +"a \\"b\\"\\n" .*""( +-)*$/));
  expect(lines.filter((line) => /^\d+( +-)* +"x"( +-)+$/.test(line))).toHaveLength(24);
  expect(stdout).toContain(`"${'x'.repeat(59)}… `);
  expect(stderr).toBe(`Plants in ${engine.plantsTable}: 26.\n`);
  expect(code).toBe(0);
});

test('prints the whole item of one plant, with exact id and escaped control characters', async () => {
  const item = { id: { N: '-9223372036854775807' }, name: { S: `\u001b\u009b\u202e${'x'.repeat(1000)}` } };
  await engine.put(engine.plantsTable, item);
  const { code, stdout } = await runCommand('plants', ['--', '-9223372036854775807']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(item);
  expect(stdout).toContain('"\\u001b\\u009b\\u202exx');
});

test.each([
  ['7', `There is no plant with the id 7 in ${engine.plantsTable}.\n`],
  ['7.5', 'ID was "7.5"; it must be a whole number.\n\nUsage: '],
])('does not find the plant %s', async (id, message) => {
  const { code, stderr } = await runCommand('plants', [id]);
  expect(code).toBe(1);
  expect(stderr.startsWith(message)).toBe(true);
});

test('in a terminal, waits for Enter after each page of 20 but the last', async () => {
  for (let id = 1; id <= 41; id += 1) await engine.put(engine.plantsTable, { id: { N: String(id) }, name: { S: 'x' } });
  const [stdin, , stderr] = (['stdin', 'stdout', 'stderr'] as const).map((name) => {
    const stream = Object.assign(new PassThrough(), { isTTY: true });
    // Of a terminal's members, the command uses only `isTTY`.
    vi.spyOn(process, name, 'get').mockReturnValue(stream as never);
    return stream;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const linesAtPrompt: number[] = [];
  stderr?.on('data', (text) => {
    if (!String(text).includes('Press Enter')) return;
    linesAtPrompt.push(vi.mocked(console.log).mock.calls.length);
    stdin?.write('\n');
  });
  const { stdout } = await runCommand('plants', []);
  expect(linesAtPrompt).toEqual([21, 42]);
  expect(stdout.trimEnd().split('\n')).toHaveLength(44);
});
