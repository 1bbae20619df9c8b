/** A mutant that no test can notice. */
export interface Equivalent {
  /** What it changes, on one line. */
  code: string;
  /** What it puts there, on one line. */
  becomes: string;
  because: string;
}

/** By file. */
export const EQUIVALENTS: Record<string, Equivalent[]> = {};
