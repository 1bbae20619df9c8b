import { inspect, stripVTControlCharacters } from 'node:util';

/** Code cannot be loaded. The message says why, for a person. */
export class LoadError extends Error {}

/** The stack frames of Node.js and Vite, as `inspect` prints them. */
const FRAMES = /\n +at .*(node:|\/node_modules\/vite\/).*?(?=( \{)?$)/gm;

/** Returns a LoadError for what an import has thrown. Its message is without the stack frames of Node.js and Vite. */
export function toLoadError(thrown: unknown): LoadError {
  // Vite's own errors, such as a syntax error, have this property. Their message names the file, and their stack is
  // Vite's.
  const text = thrown instanceof Error && 'runnerError' in thrown ? thrown.message : inspect(thrown);
  const reason = stripVTControlCharacters(text).replace(/^Transform failed .*:\n+/, '');
  return new LoadError(reason.replaceAll(FRAMES, '').trim());
}
