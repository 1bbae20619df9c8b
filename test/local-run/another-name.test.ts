import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../../infra/project-root.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { copyProject } from '../support/project-copy.ts';

const project = closedAtEnd(copyProject());

/** Runs a command, which must succeed. Returns its output. */
async function run(command: string | string[], variables: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await project.run(command, variables);
  expect(code, `${command}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

test('the commands of “Another name” rename everything, and the tests pass', async () => {
  const document = readFileSync(join(projectRoot, 'docs/changing.md'), 'utf8');
  const [, commands = ''] = /^## Another name\n.*?^```sh\n(.*?)^```$/ms.exec(document) ?? [];
  await run('git init --quiet');
  await run('git add --all');
  await run('git -c user.name=x -c user.email=x@example.com commit --quiet -m 1');
  await run(['bash', '-euo', 'pipefail', '-c', commands]);
  await run('git add --all');
  expect(await run('git ls-files *plant*')).toBe('');
  // git grep has status 1 if it finds nothing.
  expect(await project.run('git grep -il plant')).toMatchObject({ code: 1, stdout: '' });
  await run('npm test', { VITEST: '', NODE_ENV: '' });
}, 900_000);
