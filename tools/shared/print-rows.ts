import { printable } from './printable.ts';

/** Prints rows of texts in aligned columns. */
export function printRows(texts: string[][]): void {
  const rows = texts.map((row) => row.map(printable));
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((text, column) => text.padEnd(widths[column] ?? 0));
    console.log(cells.join(' ').trimEnd());
  }
}
