import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../test/support/command.ts';
import { startEngine } from '../test/support/engine.ts';

test('lists all plants with exact ids, in pages of 20', async () => {
  const engine = await startEngine();
  onTestFinished(engine.close);
  expect(await runCommand('plants', [])).toMatchObject({ code: 0, stdout: '' });
  await engine.put(engine.plantsTable, { id: { N: '9223372036854775807' }, name: { S: 'a "b"\n' }, tag: { S: '' } });
  for (let id = 1; id <= 24; id += 1) await engine.put(engine.plantsTable, { id: { N: String(id) }, name: { S: 'x' } });
  const { code, stdout, stderr } = await runCommand('plants', []);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.filter((line) => /^ID +NAME +TAG$/.test(line))).toHaveLength(2);
  expect(lines).toContain('9223372036854775807 "a \\"b\\"\\n" ""');
  expect(lines.filter((line) => /^\d+ +"x" +-$/.test(line))).toHaveLength(24);
  expect(stderr).toBe(`Plants in ${engine.plantsTable}: 25.\n`);
  expect(code).toBe(0);
});
