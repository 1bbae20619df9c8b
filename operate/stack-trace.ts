import { globSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { folderOf } from '../functions/operations.ts';
import { command, WrongArguments } from './command.ts';

/*
 * npm run stack-trace < LOG: puts the source's file, line and column in place of each position in a
 * bundle (index.mjs:LINE:COLUMN), by the map that `cdk synth` leaves beside the bundle of each operation.
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
  const folders = [...maps.keys()];
  const folderOfOthers = given ?? (folders.length === 1 ? folders[0] : undefined);

  const traced = (await text(process.stdin)).replaceAll(/.+/g, (line) => {
    const [, operation] = /"operation": *"(\w+)"/.exec(line) ?? [];
    const folder = operation === undefined ? folderOfOthers : folderOf(operation);
    return line.replaceAll(/(?:file:\/\/)?[^\s()"]*index\.mjs:(\d+):(\d+)/g, (position, row, column) => {
      if (folder === undefined) {
        throw new WrongArguments(
          `Nothing tells which operation ${position} is of; name its FOLDER: ${folders.join(' or ')}.`,
        );
      }
      const map = maps.get(folder);
      if (map) return inSource(map, Number(row), Number(column)) ?? position;
      throw new Error(
        `There is no cdk.out/${folder}${SUFFIX}; npx cdk synth makes it where there is such an operation.`,
      );
    });
  });
  process.stdout.write(traced);
});

/** The position in the source of one in the bundle, each counted from 1; undefined where the map has none. */
function inSource(map: SourceMap, line: number, column: number): string | undefined {
  const entry = map.findEntry(line - 1, column - 1);
  if (!('originalSource' in entry)) return undefined;
  // The map was made one folder deeper in the assembly.
  const source = relative(process.cwd(), resolve('cdk.out/asset', entry.originalSource));
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
