import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';
import { command } from '../operate/command.ts';
import { BARE, buildVariants, buildWithoutStore, OURS, type Variant } from './build.ts';
import { whyNoCpuShares } from './cpu-share.ts';
import { chart, markdown, type Results, type SizeResult } from './report.ts';
import { measure, type Run } from './runtime.ts';
import { startStandIn } from './stand-in.ts';
import { median, pairedRatio } from './statistics.ts';

/*
 * npm run bench: the deployed bundle beside its peers, each on AWS's runtime client in a fresh process,
 * interleaved. Prints the tables; writes results.json, chart.svg and the README's section.
 */

const EMPTY = 'empty handler';
const SIZES = [128, 256, 512, 1024, 1769];

/** Lambda on arm64 in us-east-1 ("AWS Lambda Pricing"). */
const DOLLARS_A_GB_SECOND = 0.0000133334;
const DOLLARS_A_MILLION_REQUESTS = 0.2;

await command(async () => {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '40' } } });
  const rounds = Number(values.rounds);
  if (!(rounds >= 4)) throw new Error(`--rounds was "${values.rounds}"; it must be a number from 4.`);
  const variants = await buildVariants();
  const withoutStore = await buildWithoutStore();
  const stackMegabytes = readTemplate(join(projectRoot, 'cdk.out')).functions[0]?.memoryMegabytes ?? 0;
  const standIn = await startStandIn();
  const sample = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));
  const event = (n: number) => JSON.stringify({ ...sample, body: `{"id":${n},"name":"Monstera","tag":"climber"}` });

  /** Runs of each variant by its name, a round at a time so that drift meets all alike. */
  async function interleave(
    what: string,
    of: Variant[],
    times: number,
    options: { warmUp: number; invocations: number; megabytes?: number },
  ): Promise<Map<string, Run[]>> {
    const runs = new Map<string, Run[]>(of.map(({ name }) => [name, []]));
    for (let round = 0; round < times; round += 1) {
      process.stderr.write(`\r${what}: round ${round + 1} of ${times}  `);
      for (let i = 0; i < of.length; i += 1) {
        const variant = of[(i + round) % of.length];
        if (!variant) continue;
        const run = await measure(variant.directory, { environment: standIn.environment, event, ...options });
        runs.get(variant.name)?.push(run);
      }
    }
    process.stderr.write('\n');
    return runs;
  }

  const cold = await interleave('cold starts', variants, rounds, { warmUp: 0, invocations: 0 });
  const warmRounds = Math.max(4, Math.round(rounds / 2));
  const load = { warmUp: 500, invocations: 1000 };
  const warm = await interleave('warm', variants, warmRounds, load);
  const ours = await interleave('warm, no store', withoutStore, warmRounds, load);

  const noShares = whyNoCpuShares();
  const sizes: SizeResult[] = [];
  const atShare = new Map<string, Run[]>();
  for (const megabytes of noShares === undefined ? SIZES : []) {
    const compared = variants.filter(({ name }) => megabytes === stackMegabytes || name === OURS);
    const runs = await interleave(`cold at ${megabytes} MB`, compared, Math.max(8, rounds / 2), {
      warmUp: 0,
      invocations: 0,
      megabytes,
    });
    if (megabytes === stackMegabytes) for (const [name, list] of runs) atShare.set(name, list);
    const own = variants.filter(({ name }) => name === OURS);
    const steady = await interleave(`warm at ${megabytes} MB`, own, 4, { warmUp: 50, invocations: 200, megabytes });
    const warmMs = median(figures(steady, OURS, 'warmWallMs'));
    sizes.push({
      megabytes,
      coldStartMs: median(figures(runs, OURS, 'coldStartMs')),
      firstInvocationMs: median(figures(runs, OURS, 'firstInvocationMs')),
      warmMs,
      dollarsPerMillion: warmMs * 1000 * (megabytes / 1024) * DOLLARS_A_GB_SECOND + DOLLARS_A_MILLION_REQUESTS,
    });
  }
  standIn.close();

  const overEmpty = (runs: Map<string, Run[]>, name: string, empty: string) => {
    const base = figures(runs, empty, 'warmCpuUs');
    return figures(runs, name, 'warmCpuUs').map((us, round) => us - (base[round] ?? Number.NaN));
  };
  const warmOver = (name: string) => overEmpty(warm, name, EMPTY);
  const ownOver = (name: string) => overEmpty(ours, `${name}, no store`, `${EMPTY}, no store`);
  const coldRatio = (runs: Map<string, Run[]>, name: string) =>
    pairedRatio(figures(runs, OURS, 'coldStartMs'), figures(runs, name, 'coldStartMs'));
  const peers = variants.map(({ name }) => name).filter((name) => ![OURS, EMPTY, 'one raw HTTPS call'].includes(name));

  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown CPU'}`,
    node: process.versions.node,
    rounds,
    megabytes: stackMegabytes,
    variants: variants.map(({ name, bundleBytes, zippedBytes }) => ({
      name,
      coldStartMs: median(figures(cold, name, 'coldStartMs')),
      firstInvocationMs: median(figures(cold, name, 'firstInvocationMs')),
      coldStartAtShareMs: atShare.has(name) ? median(figures(atShare, name, 'coldStartMs')) : undefined,
      warmCpuUs: median(warmOver(name)),
      peakMegabytes: median(figures(warm, name, 'peakMegabytes')),
      bundleBytes,
      zippedBytes,
    })),
    ratios: {
      ...Object.fromEntries(peers.map((name) => [`${name}: cold start`, coldRatio(cold, name)])),
      [`${BARE}: first invocation`]: pairedRatio(
        figures(cold, OURS, 'firstInvocationMs'),
        figures(cold, BARE, 'firstInvocationMs'),
      ),
      ...(noShares === undefined && {
        [`${BARE}: cold start at ${stackMegabytes} MB`]: coldRatio(atShare, BARE),
        [`Express 5: cold start at ${stackMegabytes} MB`]: coldRatio(atShare, 'Express 5'),
      }),
      [`${BARE}: warm CPU over the empty handler`]: pairedRatio(warmOver(OURS), warmOver(BARE)),
      'Hono: warm CPU without the store': pairedRatio(ownOver(OURS), ownOver('Hono')),
      'Express 5: warm CPU without the store': pairedRatio(ownOver(OURS), ownOver('Express 5')),
    },
    sizes: noShares ?? sizes,
  };
  const text = markdown(results);
  console.log(text);
  writeFileSync(join(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(import.meta.dirname, 'chart.svg'), chart(results));
  const readme = join(projectRoot, 'README.md');
  writeFileSync(
    readme,
    readFileSync(readme, 'utf8').replace(
      /(<!-- bench -->\n).*(<!-- \/bench -->)/s,
      (_, open, close) => `${open}${text}\n${close}`,
    ),
  );
});

function figures(runs: Map<string, Run[]>, name: string, figure: keyof Run): number[] {
  return (runs.get(name) ?? []).map((run) => run[figure]);
}
