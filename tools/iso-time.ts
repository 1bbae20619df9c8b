/** Returns a time as in `2026-01-31T12:00:00Z`. */
export function isoTime(secondsSince1970: number): string {
  const date = new Date(secondsSince1970 * 1000);
  // Another program can have stored a time that no Date has, and `toISOString` would throw.
  if (Number.isNaN(date.getTime())) return `${secondsSince1970} s`;
  return date.toISOString().replace('.000', '');
}
