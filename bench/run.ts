import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { projectRoot, synthesize } from '../local/synthesize.ts';
import { functionBehind, readTemplate } from '../local/template.ts';
import { checkedNumber, command } from '../operate/command.ts';
import { writeSection } from '../scripts/document-section.ts';
import {
  BARE,
  buildUntrimmed,
  buildVariants,
  buildWithoutDatabase,
  buildWithProvider,
  EMPTY,
  OURS,
  RAW,
  type Variant,
  WITH_PROVIDER,
} from './build.ts';
import { whyNoCpuShares } from './cpu-share.ts';
import { measure, type Run } from './measure.ts';
import { markdown, type Results, type SizeResult } from './report.ts';
import { startStandIn } from './stand-in.ts';
import { compare, median } from './statistics.ts';

/*
 * npm run bench: the deployed bundle beside its peers, each on AWS's runtime client in a fresh process,
 * interleaved. Prints the tables; writes results.json, and the chart and tables of docs/performance.md.
 */

const SIZES = [128, 256, 512, 1024, 1769];
const COLD = { warmUp: 0, invocations: 0 };

/** Runs of each variant, by its name. */
type Runs = Map<string, Run[]>;

const options = { rounds: { type: 'string', default: '40' } } as const;

await command({ usage: 'Usage: npm run bench -- [--rounds 40]', options }, async (values) => {
  const rounds = checkedNumber('--rounds', values.rounds, 4, 1000);
  const deployed = functionBehind(readTemplate(await synthesize(join(projectRoot, 'cdk.out'))), 'POST', '/plants');
  const standIn = await startStandIn();
  const built = await buildVariants(deployed.assetDirectory);
  const withProvider = await buildWithProvider(standIn.provider);
  const variants = [...built, withProvider];
  const untrimmed = await buildUntrimmed();
  const withoutDatabase = await buildWithoutDatabase();
  const environment = { ...standIn.environment, ...deployed.environment };
  const sample = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));
  const eventFor =
    ({ token }: Variant) =>
    (n: number) => ({
      ...sample,
      headers: { ...sample.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
      body: `{"id":${n},"name":"Monstera","tag":"climber"}`,
    });

  /** A round at a time, so that drift meets all alike. */
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

  const cold = await interleave('cold starts', [...variants, ...untrimmed], rounds, COLD);
  const warmRounds = Math.max(4, Math.round(rounds / 2));
  const load = { warmUp: 500, invocations: 1000 };
  const warm = await interleave('warm', variants, warmRounds, load);
  const own = await interleave('warm, without the database', withoutDatabase, warmRounds, load);

  const noShares = whyNoCpuShares();
  const sizes: SizeResult[] = [];
  let atShare: Runs = new Map();
  for (const megabytes of noShares === undefined ? SIZES : []) {
    const ours = variants.filter(({ name }) => name === OURS);
    const asDeployed = megabytes === deployed.memoryMegabytes;
    const starts = Math.max(8, rounds / 2);
    const runs = await interleave(`cold at ${megabytes} MB`, asDeployed ? variants : ours, starts, {
      ...COLD,
      megabytes,
    });
    if (asDeployed) atShare = runs;
    const steady = await interleave(`warm at ${megabytes} MB`, ours, 4, { warmUp: 50, invocations: 200, megabytes });
    sizes.push({
      megabytes,
      coldStartMs: median(figures(runs, OURS, 'coldStartMs')),
      firstInvocationMs: median(figures(runs, OURS, 'firstInvocationMs')),
      warmMs: median(figures(steady, OURS, 'warmWallMs')),
    });
  }
  standIn.close();

  const ratio = (ours: number[], others: number[]) => compare(ours, others, (a, b) => a / b);
  const ratioOf = (runs: Runs, name: string, figure: keyof Run) =>
    ratio(figures(runs, OURS, figure), figures(runs, name, figure));
  const overEmpty = (runs: Runs, name: string) => {
    const empty = figures(runs, EMPTY, 'warmCpuUs');
    return figures(runs, name, 'warmCpuUs').map((us, round) => us - (empty[round] ?? Number.NaN));
  };
  const warmRatio = (runs: Runs, name: string) => ratio(overEmpty(runs, OURS), overEmpty(runs, name));
  const peers = variants.map(({ name }) => name).filter((name) => ![OURS, EMPTY, RAW, WITH_PROVIDER].includes(name));

  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}`,
    node: process.versions.node,
    rounds,
    megabytes: deployed.memoryMegabytes,
    variants: variants.map(({ name, bundleBytes, zippedBytes }) => ({
      name,
      coldStartMs: median(figures(cold, name, 'coldStartMs')),
      firstInvocationMs: median(figures(cold, name, 'firstInvocationMs')),
      coldStartAtShareMs: atShare.has(name) ? median(figures(atShare, name, 'coldStartMs')) : undefined,
      warmCpuUs: median(overEmpty(warm, name)),
      peakMegabytes: median(figures(warm, name, 'peakMegabytes')),
      bundleBytes,
      zippedBytes,
    })),
    ratios: {
      ...Object.fromEntries(peers.map((name) => [`${name}: cold start`, ratioOf(cold, name, 'coldStartMs')])),
      [`${BARE}: first invocation`]: ratioOf(cold, BARE, 'firstInvocationMs'),
      ...(noShares === undefined && {
        [`${BARE}: cold start at ${deployed.memoryMegabytes} MB`]: ratioOf(atShare, BARE, 'coldStartMs'),
        [`Express 5: cold start at ${deployed.memoryMegabytes} MB`]: ratioOf(atShare, 'Express 5', 'coldStartMs'),
      }),
      [`${BARE}: warm CPU over the empty handler`]: warmRatio(warm, BARE),
      'Hono: warm CPU without the database': warmRatio(own, 'Hono'),
      'Express 5: warm CPU without the database': warmRatio(own, 'Express 5'),
    },
    untrimmed: [...untrimmed, ...variants.filter(({ name }) => [BARE, WITH_PROVIDER].includes(name))].map(
      ({ name, bundleBytes }) => {
        const starts = figures(cold, name, 'coldStartMs');
        const laterMs = compare(starts, figures(cold, OURS, 'coldStartMs'), (a, b) => a - b);
        return { name, coldStartMs: median(starts), laterMs, bundleBytes };
      },
    ),
    sizes: noShares ?? sizes,
  };
  const text = markdown(results);
  console.log(text);
  writeFileSync(join(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeSection('docs/performance.md', 'bench', text);
});

function figures(runs: Runs, name: string, figure: keyof Run): number[] {
  return (runs.get(name) ?? []).map((run) => run[figure]);
}
