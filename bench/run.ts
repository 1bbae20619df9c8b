import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { checkedNumber, command } from '../cli/command.ts';
import { projectRoot, synthesize } from '../local/synthesize.ts';
import { functionBehind, readTemplate } from '../local/template.ts';
import {
  BARE,
  buildOtherwise,
  buildVariants,
  buildWithProvider,
  EMPTY,
  OURS,
  PARTS,
  RAW,
  type Variant,
  WITH_PROVIDER,
} from './build.ts';
import { whyNoCpuShares } from './cpu-share.ts';
import { measure, type Run } from './measure.ts';
import { markdown, type Results } from './report.ts';
import { startStandIn } from './stand-in.ts';
import { compare, median } from './statistics.ts';

/*
 * npm run bench: the deployed bundle beside its peers, each on AWS's runtime client in a fresh process,
 * interleaved. Prints the tables; writes results.json, and the chart and tables of docs/performance.md.
 */

const SIZES = [128, 512, 1769];
const COLD = { warmUp: 0, invocations: 0 };

const fill = (value: string, bytes: number) => Array(Math.floor(bytes / (value.length + 1))).fill(value);
/** Bodies that cost most: the largest plant, and what is refused. With the status of the response. */
const BODIES: [name: string, members: string, status: number][] = [
  ['a plant of 400 KB, each character escaped', `"name":"${'\\u0061'.repeat(400_000)}"`, 200],
  ['2.4 MB of `{}`', `"name":"x","a":[${fill('{}', 2_400_000)}]`, 400],
  ['4.4 MB of `{}`', `"name":"x","a":[${fill('{}', 4_400_000)}]`, 400],
];

/** Runs of each variant, by its name. */
type Runs = Map<string, Run[]>;

const options = { rounds: { type: 'string', default: '40' } } as const;

await command({ usage: 'Usage: npm run bench -- [--rounds 40]', options }, async (values) => {
  const rounds = checkedNumber('--rounds', values.rounds, 4, 1000);
  const deployed = functionBehind(readTemplate(await synthesize(join(projectRoot, 'cdk.out'))), 'POST', '/plants');
  const standIn = await startStandIn();
  const variants = [...(await buildVariants(deployed.assetDirectory)), await buildWithProvider(standIn.provider)];
  const otherwise = await buildOtherwise();
  const environment = { ...standIn.environment, ...deployed.environment };
  const sample = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));
  const eventFor =
    ({ token }: Variant) =>
    (n: number) => ({
      ...sample,
      headers: { ...sample.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
      body: `{"id":${n},"name":"Monstera","tag":"climber"}`,
    });

  /** A round at a time, so that drift affects all alike. */
  async function interleave(
    what: string,
    of: Variant[],
    times: number,
    options: { warmUp: number; invocations: number; megabytes?: number },
  ): Promise<Runs> {
    const runs: Runs = new Map(of.map(({ name }) => [name, []]));
    for (let round = 0; round < times; round += 1) {
      process.stderr.write(`\r${what}: round ${round + 1} of ${times}  `);
      const first = round % of.length;
      for (const variant of [...of.slice(first), ...of.slice(0, first)]) {
        const own = { environment: { ...environment, ...variant.environment }, event: eventFor(variant) };
        runs.get(variant.name)?.push(await measure(variant.directory, { ...own, ...options }));
      }
    }
    process.stderr.write('\n');
    return runs;
  }

  const cold = await interleave('cold starts', [...variants, ...otherwise], rounds, COLD);
  const warmRounds = Math.max(4, Math.round(rounds / 2));
  const warm = await interleave('warm', variants, warmRounds, { warmUp: 500, invocations: 1000 });

  const noShares = whyNoCpuShares();
  const { memoryMegabytes } = deployed;
  const compared = variants.filter(({ name }) => [OURS, BARE, PARTS, RAW, 'Express 5'].includes(name));
  const ours = variants.filter(({ name }) => name === OURS);
  const starts = Math.max(4, Math.round(rounds / 2));
  const sizes: Results['sizes'] = [];
  const bodies: Results['bodies'] = [];
  let atShare: Runs = new Map();
  for (const megabytes of noShares === undefined ? SIZES : []) {
    const asDeployed = megabytes === memoryMegabytes;
    const of = asDeployed ? [...compared, ...otherwise] : compared;
    const runs = await interleave(`cold at ${megabytes} MB`, of, starts, { ...COLD, megabytes });
    if (asDeployed) atShare = runs;
    const steady = await interleave(`warm at ${megabytes} MB`, ours, 4, { warmUp: 50, invocations: 200, megabytes });
    sizes.push({
      megabytes,
      variants: compared.map(({ name }) => ({ name, ...start(runs, name) })),
      warmMs: median(figures(steady, OURS, 'warmWallMs')),
    });
  }
  for (const [name, members, status] of noShares === undefined ? BODIES : []) {
    const runs: Run[] = [];
    for (let n = 0; n < 3; n += 1) {
      const body = Buffer.from(`{"id":${n},${members}}`).toString('base64');
      const event = () => ({ ...sample, body, isBase64Encoded: true });
      const run = { environment, event, status, ...COLD, megabytes: memoryMegabytes };
      runs.push(await measure(deployed.assetDirectory, run));
    }
    const of = (figure: keyof Run) => median(runs.map((run) => run[figure]));
    bodies.push({ name, firstInvocationMs: of('firstInvocationMs'), peakMegabytes: of('peakMegabytes') });
  }
  standIn.close();

  const ratio = (runs: Runs, name: string, figure: keyof Run) =>
    compare(figures(runs, OURS, figure), figures(runs, name, figure), (a, b) => a / b);
  const overEmpty = (name: string) => {
    const empty = figures(warm, EMPTY, 'warmCpuUs');
    return figures(warm, name, 'warmCpuUs').map((us, round) => us - (empty[round] ?? Number.NaN));
  };
  const peers = variants.map(({ name }) => name).filter((name) => ![OURS, EMPTY, WITH_PROVIDER].includes(name));

  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}`,
    node: process.versions.node,
    rounds,
    megabytes: memoryMegabytes,
    variants: variants.map(({ name, bundleBytes, zippedBytes }) => ({
      name,
      ...start(cold, name),
      warmCpuUs: median(overEmpty(name)),
      peakMegabytes: median(figures(warm, name, 'peakMegabytes')),
      bundleBytes,
      zippedBytes,
    })),
    ratios: {
      ...Object.fromEntries(peers.map((name) => [`${name}: cold start`, ratio(cold, name, 'coldStartMs')])),
      [`${BARE}: first invocation`]: ratio(cold, BARE, 'firstInvocationMs'),
      ...(noShares === undefined && {
        [`${BARE}: cold start at ${memoryMegabytes} MB`]: ratio(atShare, BARE, 'coldStartMs'),
        [`Express 5: cold start at ${memoryMegabytes} MB`]: ratio(atShare, 'Express 5', 'coldStartMs'),
      }),
      [`${BARE}: warm CPU over the empty handler`]: compare(overEmpty(OURS), overEmpty(BARE), (a, b) => a / b),
    },
    otherwise: [...otherwise, ...variants.filter(({ name }) => name === WITH_PROVIDER)].map(({ name, bundleBytes }) => {
      const later = (runs: Runs) =>
        compare(figures(runs, name, 'coldStartMs'), figures(runs, OURS, 'coldStartMs'), (a, b) => a - b);
      const atShareMs = atShare.has(name) ? later(atShare) : undefined;
      return { name, laterMs: later(cold), laterAtShareMs: atShareMs, bundleBytes };
    }),
    sizes: noShares ?? sizes,
    bodies,
  };
  const text = markdown(results);
  console.log(text);
  writeFileSync(join(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  const document = join(projectRoot, 'docs/performance.md');
  const section = /(?<=<!-- bench -->\n).*(?=\n<!-- \/bench -->)/s;
  const written = readFileSync(document, 'utf8').replace(section, () => text);
  writeFileSync(document, written);
});

function start(runs: Runs, name: string) {
  return {
    coldStartMs: median(figures(runs, name, 'coldStartMs')),
    firstInvocationMs: median(figures(runs, name, 'firstInvocationMs')),
  };
}

function figures(runs: Runs, name: string, figure: keyof Run): number[] {
  return (runs.get(name) ?? []).map((run) => run[figure]);
}
