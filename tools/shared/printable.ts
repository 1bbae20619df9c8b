/** Control characters (C0, DEL and C1) and those that change the direction of text, but not line breaks and tabs. */
const CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** Escapes what could control a terminal or hide text in it. JSON keeps its value, because the escapes are JSON's. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Prints rows of texts in aligned columns. */
export function printRows(texts: string[][]): void {
  const rows = texts.map((row) => row.map(printable));
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((text, column) => text.padEnd(widths[column] ?? 0));
    console.log(cells.join(' ').trimEnd());
  }
}
