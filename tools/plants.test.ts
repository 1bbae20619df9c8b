import { beforeEach, expect, test } from 'vitest';
import { runCommand } from '../test/support/command.ts';
import { startPagingProxy } from '../test/support/dynamodb-proxy.ts';
import { startEngine } from '../test/support/engine.ts';

const engine = await startEngine();
beforeEach(() => engine.clear(engine.plantsTable));

test('prints each plant of all pages as a line of JSON, with all attributes, exact numbers and escaped control characters', async () => {
  const { url } = await startPagingProxy(engine);
  const plants = () => runCommand('plants', [], { AWS_ENDPOINT_URL_DYNAMODB: url });
  const used = `Uses the local run at ${url}.\n`;
  expect(await plants()).toEqual({ code: 0, stdout: '', stderr: used });
  await engine.put(engine.plantsTable, { id: { N: '9223372036854775807' }, name: { S: 'a "b"\n' }, tag: { S: '' } });
  // An older version stored these, or another program.
  const old = { old: { N: '9223372036854775806' }, Edible: { BOOL: false }, list: { SS: ['a'] } };
  await engine.put(engine.plantsTable, { id: { N: '1' }, ...old });
  const creation = { createdAt: { N: '1800000000' }, createdBy: { S: 'ci' } };
  await engine.put(engine.plantsTable, { id: { N: '-7' }, name: { S: '\u001b\u009b\u202e' }, ...creation });
  const { code, stdout, stderr } = await plants();
  expect({ code, stderr }).toEqual({ code: 0, stderr: used });
  expect(stdout.trimEnd().split('\n').toSorted()).toEqual([
    '{"id":-7,"createdAt":"2027-01-15T08:00:00Z","createdBy":"ci","name":"\\u001b\\u009b\\u202e"}',
    '{"id":1,"Edible":false,"list":{"SS":["a"]},"old":9223372036854775806}',
    '{"id":9223372036854775807,"name":"a \\"b\\"\\n","tag":""}',
  ]);
});

test('prints the plants of a table of the AWS account, and rejects a table of other items, and --table with --stack', async () => {
  await engine.put(engine.plantsTable, { id: { N: '1' }, name: { S: 'restored' } });
  const plants = (...args: string[]) => runCommand('plants', args);
  const restored = { code: 0, stdout: '{"id":1,"name":"restored"}\n', stderr: '' };
  expect(await plants('--table', engine.plantsTable)).toEqual(restored);
  const error = (message: string) => ({ code: 1, stderr: expect.stringContaining(message) });
  expect(await plants('--table', engine.accessTokensTable)).toMatchObject(error('an item without an id'));
  expect(await plants('--stack', 'x', '--table', 'y')).toMatchObject(error('one of --stack and --table'));
});
