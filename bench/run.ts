import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedNumber, command } from '../cli/command.ts';
import { projectRoot, synthesize } from '../local/synthesize.ts';
import { functionBehind, readTemplate } from '../local/template.ts';
import { buildOtherwise, buildVariants, buildWithProvider, COMPARED, OURS, type Variant } from './build.ts';
import { startFakeServices } from './fake-services.ts';
import { measure, type RunOptions } from './measure.ts';
import { type Measurements, markdown, type Runs } from './report.ts';

/*
 * npm run bench: measures the deployed bundle beside its peers, each on AWS's runtime client in a fresh process. Prints
 * the chart and the tables, and writes them into docs/performance.md.
 */

const SIZES = [128, 512, 1769];

const fill = (value: string, bytes: number) => Array(Math.floor(bytes / (value.length + 1))).fill(value);
/** The bodies that cost most, with the status of the response: the largest plant, and two that are refused. */
const BODIES: [name: string, members: string, status: number][] = [
  ['a plant of 400 KB, each character escaped', `"name":"${'\\u0061'.repeat(400_000)}"`, 200],
  ['2.4 MB of `{}`', `"name":"x","a":[${fill('{}', 2_400_000)}]`, 400],
  ['4.4 MB of `{}`', `"name":"x","a":[${fill('{}', 4_400_000)}]`, 400],
];

const options = { rounds: { type: 'string', default: '40' } } as const;

await command({ usage: 'Usage: npm run bench -- [--rounds 40]', options }, async (values) => {
  const rounds = checkedNumber('--rounds', values.rounds, 4, 1000);
  const fewer = Math.max(4, Math.round(rounds / 2));
  const { assetDirectory, environment, memoryMegabytes } = functionBehind(
    readTemplate(await synthesize(join(projectRoot, 'cdk.out'))),
    'POST',
    '/plants',
  );
  const fakes = await startFakeServices();
  const withProvider = await buildWithProvider(fakes.provider.context, fakes.provider.token);
  const variants = [...(await buildVariants(assetDirectory)), withProvider];
  const otherwise = await buildOtherwise();
  const sample = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));

  async function run(variant: Variant, options: Partial<RunOptions>) {
    const { directory, token } = variant;
    const headers = { ...sample.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
    return measure(directory, {
      environment: { ...fakes.environment, ...environment, ...variant.environment },
      event: (n) => ({ ...sample, headers, body: `{"id":${n},"name":"Monstera","tag":"climber"}` }),
      ...options,
    });
  }

  /** Lets the handlers take turns in rounds, so that a slow minute of the machine affects all alike. */
  async function interleave(of: Variant[], times: number, options: Partial<RunOptions> = {}): Promise<Runs> {
    const runs: Runs = new Map(of.map(({ name }) => [name, []]));
    for (let round = 0; round < times; round += 1) {
      process.stderr.write(`\r${JSON.stringify(options)}: round ${round + 1} of ${times}  `);
      const first = round % of.length;
      for (const variant of [...of.slice(first), ...of.slice(0, first)]) {
        runs.get(variant.name)?.push(await run(variant, options));
      }
    }
    process.stderr.write('\n');
    return runs;
  }

  const ours = variants.filter(({ name }) => name === OURS);
  const compared = variants.filter(({ name }) => COMPARED.includes(name));
  // First, because they fail on a machine without CPU shares.
  const sizes: Measurements['sizes'] = new Map();
  for (const megabytes of SIZES) {
    const of = megabytes === memoryMegabytes ? [...compared, ...otherwise] : compared;
    const cold = await interleave(of, fewer, { megabytes });
    const warm = await interleave(ours, 4, { warmUp: 50, invocations: 200, megabytes });
    sizes.set(megabytes, { cold, warm });
  }
  const bodies: Runs = new Map();
  for (const [name, members, status] of BODIES) {
    const event = (n: number) => {
      const body = Buffer.from(`{"id":${n},${members}}`).toString('base64');
      return { ...sample, body, isBase64Encoded: true };
    };
    const runs = await interleave(ours, 3, { event, status, megabytes: memoryMegabytes });
    bodies.set(name, runs.get(OURS) ?? []);
  }
  const cold = await interleave([...variants, ...otherwise], rounds);
  const warm = await interleave(variants, fewer, { warmUp: 500, invocations: 1000 });
  await fakes.close();

  const text = markdown({ rounds, megabytes: memoryMegabytes, variants, otherwise, cold, warm, sizes, bodies });
  console.log(text);
  const document = join(projectRoot, 'docs/performance.md');
  const section = /(?<=<!-- bench -->\n).*(?=\n<!-- \/bench -->)/s;
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace(section, () => text),
  );
});
// A run that failed has not closed the fake services.
process.exit();
