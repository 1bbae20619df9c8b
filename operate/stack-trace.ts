import { globSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { command } from './command.ts';
import { foldersOf, inSources } from './source-positions.ts';

/*
 * npm run stack-trace < LOG: puts the source's file, line and column in place of each position in a
 * bundle (index.mjs:LINE:COLUMN), by the maps that `cdk synth` leaves beside the bundles.
 */

const USAGE = `Usage: npm run --silent stack-trace [-- FOLDER] < LOG

A line that a request wrote names its operation. FOLDER is the folder of the operation that wrote the other lines, such
as create-plant; it may be left out where there is only one operation.`;

const SUFFIX = '.mjs.map';

await command({ usage: USAGE, operands: ['[FOLDER]'] }, async (_, [given]) => {
  const files = globSync(`cdk.out/*${SUFFIX}`).toSorted();
  if (files.length === 0) throw new Error('There is no source map in cdk.out; npx cdk synth makes them.');
  const maps = new Map(
    files.map((file) => [basename(file, SUFFIX), new SourceMap(JSON.parse(readFileSync(file, 'utf8')))]),
  );
  const [only, ...others] = foldersOf(maps);
  const folderOfOthers = given ?? (others.length === 0 ? only : undefined);
  process.stdout.write(inSources(await text(process.stdin), maps, folderOfOthers));
});
