import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { contractText, parseContract, readOperations } from '../../infra/contract.ts';
import { projectRoot } from '../../infra/project-root.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { plantWith } from '../support/plant.ts';
import { copyProject } from '../support/project-copy.ts';

/* A copy of the project with a new optional member of Plant, and with all examples (docs/changing.md). */

const MEMBER = 'measuredHeight';
const entries = readdirSync(join(projectRoot, 'examples'), { withFileTypes: true });
const examples = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
const project = closedAtEnd(copyProject());

/** Runs a command, which must succeed. Returns its output. */
async function run(command: string, variables: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await project.run(command, variables);
  expect(code, `${command}\n${stdout.slice(-20_000)}\n${stderr.slice(-20_000)}`).toBe(0);
  return stdout;
}

beforeAll(async () => {
  const file = join(project.directory, 'openapi.yaml');
  const contract = readFileSync(file, 'utf8');
  // Its properties are last.
  const plantSchema = /\n {4}Plant:\n( {6}.*\n)+/;
  expect(contract).toMatch(plantSchema);
  writeFileSync(file, contract.replace(plantSchema, `$&        ${MEMBER}: { type: number }\n`));
  const added = readOperations().map(({ folder }) => folder);
  for (const example of examples) if (!added.includes(example)) await run(`npm run add -- ${example}`);
});

test.each([
  ['an unknown example', 'water-plant', `EXAMPLE was "water-plant"; it must be one of ${examples.join(', ')}.\n`],
  ['an example again', String(examples[0]), `functions/${examples[0]} exists already; nothing was added.\n`],
])('does not add %s', async (_, example, message) => {
  const stderr = expect.stringContaining(message);
  expect(await project.run(`npm run --silent add -- ${example}`)).toMatchObject({ code: 1, stdout: '', stderr });
});

test('the project with the member and all examples passes its tests', async () => {
  await run('npm test', { VITEST: '', NODE_ENV: '' });
});

test('the local run serves the member and all examples, and passes two smoke tests at the same time', async () => {
  const { url } = await project.start('npm start');
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' };
    const response = await fetch(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return response.json();
  };
  const plant = { ...plantWith(), [MEMBER]: 1.5 };
  for (const _ of [1, 2]) expect(await send('POST', '/plants', { id: 1, ...plant })).toEqual(plant);
  expect(await send('POST', '/plants', { id: 1, ...plantWith() })).toMatchObject({ error: 409 });
  const message = expect.stringMatching(`^The member ${MEMBER} was a string; it must be a number`);
  expect(await send('POST', '/plants', { id: 2, ...plant, [MEMBER]: 'tall' })).toEqual({ error: 400, message });
  expect(await send('GET', '/plants')).toEqual({ plants: [{ id: 1, ...plant }] });
  expect(await send('GET', '/plants/1')).toEqual(plant);
  expect(await send('DELETE', '/plants/1')).toEqual(plant);
  expect(await send('GET', '/plants/1')).toMatchObject({ error: 404 });

  const [output = ''] = await Promise.all([run('npm run --silent smoke'), run('npm run --silent smoke')]);
  for (const { operationId } of readOperations(parseContract(contractText(project.directory)))) {
    expect(output).toContain(`ok    ${operationId} rejects an unknown token\n`);
  }
  expect(await send('GET', '/plants')).toEqual({ plants: [] });
});
