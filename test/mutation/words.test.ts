import { Instrumenter } from '@stryker-mutator/instrumenter';
import { expect, test } from 'vitest';
import { strykerPlugins } from './words.ts';

const silent = () => {};
const logger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
  ...{ isTraceEnabled: () => false, isDebugEnabled: () => false, isInfoEnabled: () => false },
  ...{ isWarnEnabled: () => false, isErrorEnabled: () => false, isFatalEnabled: () => false },
};

/** Whether Stryker sets aside each text of such code that it would take away. */
async function textsSetAside(code: string): Promise<boolean[]> {
  const ignorers = strykerPlugins.map(({ value }) => value);
  const options = { ignorers, excludedMutations: [], plugins: [] };
  const files = [{ name: 'x.ts', content: code, mutate: true }];
  const { mutants } = await new Instrumenter(logger).instrument(files, options);
  return mutants.filter(({ mutatorName }) => mutatorName === 'StringLiteral').map(({ status }) => status === 'Ignored');
}

test.each([
  "const text = 'The name is in use.'",
  "const text = 'It waits, say, for a minute'",
  `const text = \`The name \${name} is in use.\``,
  "throw new Error('gone')",
  "throw new WrongArguments('--from')",
  `throw new PlantStoreError(\`\${name}\`)`,
  "console.log('x')",
  "console.error(name, 'x')",
])('%s is only words', async (code) => {
  expect(await textsSetAside(code)).toEqual([true]);
});

test.each([
  "const text = 'PlantsTableName'",
  "const text = 'two words'",
  "const condition = 'attribute_not_exists(id)'",
  `const condition = \`attribute_not_exists(\${id}) OR \${alike}\``,
  'const query = `fields @timestamp\n| filter level in list\n| sort by the time`',
  "const header = 'application/json'",
  "const pattern = 'a-z 0-9 _-.'",
  "const when = new Map('x')",
  "log('x')",
])('%s is told from words', async (code) => {
  expect(await textsSetAside(code)).toEqual([false]);
});
