import { expect, onTestFinished, test } from 'vitest';
import { copyProject } from '../support/project-copy.ts';

/** The tests that depend most on names. */
const TESTS =
  'functions/pre-traffic-hook/all-checks tools/token tools/generate functions/create-order infra/stack test/contract test/documents test/events';

test('npm run rename makes a service of another name and resource, which passes its tests', async () => {
  const project = copyProject();
  onTestFinished(project.close);
  const run = async (command: string) => {
    const { code, stdout, stderr } = await project.run(command);
    expect(code, `${command}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  const rename = 'npm run rename -- --service bakery --resource order';
  await run('git init --quiet');
  await run('git add --all');
  expect(await project.run(rename)).toMatchObject({ code: 1, stderr: expect.stringContaining('uncommitted') });
  await run('git -c user.name=test -c user.email=test@example.com commit --quiet --message start');
  expect(await project.run('npm run rename -- --service Bakery --resource order')).toMatchObject({ code: 1 });
  expect(await run('git status --porcelain')).toBe('');

  await run(rename);
  await run('git add --all');
  expect(await project.run('git grep --cached --ignore-case --files-with-matches -I plant')).toMatchObject({
    stdout: '',
  });
  expect(await run('git ls-files')).toContain('functions/create-order/create-order.ts');
  await run('npx tsc');
  await run('npx biome ci');
  await run(`npx vitest run ${TESTS}`);
}, 900_000);
