import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { contract } from '../support/contract-body.ts';
import { copyProject } from '../support/project-copy.ts';

/*
 * Does what "A new member", "A constraint" and "A renamed or removed member" of CONTRIBUTING.md say, in a copy of the
 * project, and runs its tests.
 */

const page = readFileSync('CONTRIBUTING.md', 'utf8');
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = '']) => parse(yaml));
const [optionalMembers, requiredMember, constraints] = blocks;

/** The first Plant. The corrections below are for it, so with another one, the recipes are skipped. */
const FIRST_PLANT = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
};
const recipe = test.runIf(isDeepStrictEqual(contract['components'].schemas.Plant, FIRST_PLANT));
const IF_FIRST = '(skipped if openapi.yaml has another Plant than the first one)';

/** The tests that check members. Others only send the sample plant. */
const FAST_TESTS = 'functions tools test/events test/bundle test/smoke.test test/documents';
const SLOW_TESTS = 'test/runtime test/smoke';

/** A correction of a file: each match of the pattern is replaced. */
type Correction = [file: string, pattern: RegExp, replacement: string];

/** Changes the schema Plant, corrects files, generates, and runs the tests. */
async function followRecipe(plant: { required?: string[]; properties: object }, corrections: Correction[]) {
  const { directory, run } = copyProject();
  const rewrite = (file: string, change: (text: string) => string) => {
    const [path, before] = [join(directory, file), readFileSync(join(directory, file), 'utf8')];
    writeFileSync(path, change(before));
    expect(readFileSync(path, 'utf8'), `${file} after its correction`).not.toBe(before);
  };
  rewrite('openapi.yaml', (text) => {
    const contract = parseDocument(text);
    const schema = ['components', 'schemas', 'Plant'];
    for (const [name, member] of Object.entries(plant.properties))
      contract.setIn([...schema, 'properties', name], member);
    if (plant.required) contract.setIn([...schema, 'required'], plant.required);
    return contract.toString({ lineWidth: 0 });
  });
  for (const [file, pattern, replacement] of corrections)
    rewrite(file, (text) => text.replaceAll(pattern, replacement));
  const tests = [`npx vitest run ${FAST_TESTS}`, `npx vitest run --config test/slow.config.ts ${SLOW_TESTS}`];
  for (const command of ['npm run generate', 'npx tsc', ...tests]) {
    const { code, stdout, stderr } = await run(command);
    expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
  }
}

recipe(`with an optional member of each type and the constraints, all tests of a member pass ${IF_FIRST}`, async () => {
  const ofName: Correction = ['openapi.yaml', /must be a string\."/g, 'must be a string of at most 200 characters."'];
  const properties = { ...optionalMembers, ...constraints };
  await followRecipe({ properties }, [ofName]);
});

recipe(`with a required member and the corrections, all tests of a member pass ${IF_FIRST}`, async () => {
  const corrections: Correction[] = [
    ['events/create-plant.json', /\\"tag\\"/g, '\\"habitat\\":\\"forest\\",$&'],
    ['events/create-plant-name-missing.json', /\\"id\\"/g, '\\"habitat\\":\\"forest\\",$&'],
    ['openapi.yaml', /tag: climber/g, '$&, habitat: forest'],
    ['tools/smoke.ts', /const PLANT = {/g, "$& habitat: 'forest',"],
  ];
  await followRecipe(requiredMember, corrections);
});

recipe(`with a renamed and without a removed member, all tests of a member pass ${IF_FIRST}`, async () => {
  const corrections: Correction[] = [
    ['openapi.yaml', /name(?=: Monstera|:\n| ?\]| is missing)/g, 'label'],
    ['openapi.yaml', /, tag: climber|\n +tag:\n +type: string/g, ''],
    ['events/create-plant.json', /name(?=\\":\\"Monstera)/g, 'label'],
    ['events/create-plant.json', /,\\"tag\\":\\"climber\\"/g, ''],
    // The removed member has the text that is hard to store.
    ['tools/smoke.ts', /name: 'smoke test', tag|name(?=: 'smoke)|tag(?=: 'x)/g, 'label'],
    ['tools/smoke.ts', /{ \.\.\.PLANT, tag: undefined }/g, 'undefined'],
  ];
  await followRecipe({ properties: {} }, corrections);
});
