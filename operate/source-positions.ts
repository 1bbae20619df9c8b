import type { SourceMap } from 'node:module';
import { join } from 'node:path';
import { folderOf } from '../functions/operations.ts';
import { WrongArguments } from './command.ts';

/** The file beside a bundle, whose map is by its own name. */
const BESIDE_THE_BUNDLE = 'identity-provider';

const POSITION = new RegExp(`(?:file://)?[^\\s()"]*(index|${BESIDE_THE_BUNDLE})\\.mjs:(\\d+):(\\d+)`, 'g');

/**
 * A log with the source's file, line and column in place of each position in a bundle (index.mjs:LINE:COLUMN) or in
 * identity-provider.mjs beside it. A position that its map has not stays as it is. The maps of bundles are by the
 * folders of their operations; `folderOfOthers` is that of the lines that name no operation. Throws a sentence where a
 * position's map is not there, or nothing tells which it is.
 */
export function inSources(log: string, maps: Map<string, SourceMap>, folderOfOthers: string | undefined): string {
  return log.replaceAll(/[^\n]+/g, (line) => {
    const operation = /"operation": *"(\w+)"/.exec(line)?.[1];
    const folder = operation === undefined ? folderOfOthers : folderOf(operation);
    return line.replaceAll(POSITION, (position, file, row, column) => {
      const name = file === 'index' ? folder : file;
      if (name === undefined) {
        const folders = foldersOf(maps).join(' or ');
        throw new WrongArguments(`Nothing tells which operation ${position} is of; name its FOLDER: ${folders}.`);
      }
      const map = maps.get(name);
      if (map) return inSource(map, Number(row), Number(column)) ?? position;
      throw new Error(
        `There is no cdk.out/${name}.mjs.map; npx cdk synth makes it at the commit and with the context that were deployed.`,
      );
    });
  });
}

/** The folders of the operations whose maps these are. */
export function foldersOf(maps: Map<string, SourceMap>): string[] {
  return [...maps.keys()].filter((name) => name !== BESIDE_THE_BUNDLE);
}

/** The position in the source of one in the bundle, each counted from 1; undefined where the map has none. */
function inSource(map: SourceMap, line: number, column: number): string | undefined {
  const entry = map.findEntry(line - 1, column - 1);
  // Some code is of no source; and where a line has no position, this is the last one of a line before.
  if (!('originalSource' in entry && entry.originalSource) || entry.generatedLine !== line - 1) return undefined;
  // The map was made one folder deeper in the assembly.
  const source = join('cdk.out/asset', entry.originalSource);
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
