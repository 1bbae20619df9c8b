import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedNumber, command } from '../tools/command.ts';
import { projectRoot } from '../tools/project-root.ts';
import { AT_EVERY_SIZE, buildAlternatives, buildVariants, buildWithJwt, PLANT_STORE, type Variant } from './build.ts';
import { startFakeServices } from './fake-services.ts';
import { measure, type RunOptions } from './measure.ts';
import { type Measurements, markdown, type Runs } from './report.ts';

/*
 * npm run bench: measures the deployed bundle and its peers, each on AWS's runtime client in a new process. Prints
 * tables, and writes them to docs/performance.md.
 */

const MEMORY_SIZES = [128, 512, 1769];
/** The memory size in infra/functions.ts. */
const DEPLOYED_MEGABYTES = 512;

const fill = (value: string, bytes: number) => Array(Math.floor(bytes / (value.length + 1))).fill(value);
/** The most expensive bodies, with the status of the response: the largest plant, and two that are too large. */
const BODIES: [name: string, members: string, status: number][] = [
  ['a plant of 400 KB, every character escaped', `"name":"${'\\u0061'.repeat(400_000)}"`, 200],
  ['2.4 MB of `{}`', `"name":"x","a":[${fill('{}', 2_400_000)}]`, 400],
  ['4.4 MB of `{}`', `"name":"x","a":[${fill('{}', 4_400_000)}]`, 400],
];

const options = { rounds: { type: 'string', default: '40' } } as const;

await command({ usage: 'Usage: npm run bench -- [--rounds 40]', options }, async (values) => {
  const rounds = checkedNumber('--rounds', values.rounds, 4, 1000);
  const halfRounds = Math.max(4, Math.round(rounds / 2));
  const fakes = await startFakeServices();
  const withProvider = await buildWithJwt(fakes.provider.variables, fakes.provider.token);
  const variants = [...(await buildVariants()), withProvider];
  const alternatives = await buildAlternatives();
  const sample = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));

  async function run(variant: Variant, options: Partial<RunOptions>) {
    const { directory, token } = variant;
    const headers = { ...sample.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
    return measure(directory, {
      environment: { ...fakes.environment, ...variant.environmentVariables },
      event: (n) => ({ ...sample, headers, body: `{"id":${n},"name":"Monstera","tag":"climber"}` }),
      ...options,
    });
  }

  /** Runs the handlers in turn, round by round, so that a slow minute of the machine affects all of them. */
  async function interleave(handlers: Variant[], times: number, options: Partial<RunOptions> = {}): Promise<Runs> {
    const runs: Runs = new Map(handlers.map(({ name }) => [name, []]));
    for (let round = 0; round < times; round += 1) {
      process.stderr.write(`\r${JSON.stringify(options)}: round ${round + 1} of ${times}  `);
      const first = round % handlers.length;
      for (const variant of [...handlers.slice(first), ...handlers.slice(0, first)]) {
        runs.get(variant.name)?.push(await run(variant, options));
      }
    }
    process.stderr.write('\n');
    return runs;
  }

  const plantStore = variants.filter(({ name }) => name === PLANT_STORE);
  const compared = variants.filter(({ name }) => AT_EVERY_SIZE.includes(name));
  // First, because this part fails on a machine without cgroups.
  const sizes: Measurements['sizes'] = new Map();
  for (const megabytes of MEMORY_SIZES) {
    const handlers = megabytes === DEPLOYED_MEGABYTES ? [...compared, ...alternatives] : compared;
    const cold = await interleave(handlers, halfRounds, { megabytes });
    const warm = await interleave(plantStore, 4, { invocations: 200, megabytes });
    sizes.set(megabytes, { cold, warm });
  }
  const bodies: Runs = new Map();
  for (const [name, members, status] of BODIES) {
    const event = (n: number) => {
      const body = Buffer.from(`{"id":${n},${members}}`).toString('base64');
      return { ...sample, body, isBase64Encoded: true };
    };
    const runs = await interleave(plantStore, 3, { event, status, megabytes: DEPLOYED_MEGABYTES });
    bodies.set(name, runs.get(PLANT_STORE) ?? []);
  }
  const cold = await interleave([...variants, ...alternatives], rounds);
  const warm = await interleave(variants, halfRounds, { invocations: 1000 });
  await fakes.close();

  const text = markdown({ rounds, megabytes: DEPLOYED_MEGABYTES, variants, alternatives, cold, warm, sizes, bodies });
  console.log(text);
  const document = join(projectRoot, 'docs/performance.md');
  const section = /(?<=<!-- bench -->\n).*(?=\n<!-- \/bench -->)/s;
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace(section, () => text),
  );
});
// Ends the fake services also after a failed run.
process.exit();
