/** A mutant that no test can notice. */
export interface Equivalent {
  /** What it changes, on one line. */
  code: string;
  /** What it puts there, on one line. */
  becomes: string;
  because: string;
}

/** By file. */
export const EQUIVALENTS: Record<string, Equivalent[]> = {
  'operate/access-tokens.ts': [
    { code: 'digest?.S', becomes: 'digest.S', because: 'Each item has its key; the types do not know.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'Each item has its key; the types do not know.' },
  ],
  'operate/restore-plants.ts': [
    {
      code: '[]',
      becomes: '["Stryker was here"]',
      because: 'Each page of a scan has its items; the types do not know.',
    },
  ],
  'operate/table.ts': [
    { code: 'Stacks?.[0]', becomes: 'Stacks[0]', because: 'A stack that is described is told; the types do not know.' },
    {
      code: 'Stacks?.[0]?.Outputs',
      becomes: 'Stacks?.[0].Outputs',
      because: 'A stack that is described is told; the types do not know.',
    },
    { code: 'id?.N', becomes: 'id.N', because: 'Each item has its key; the types do not know.' },
    { code: "''", becomes: '"Stryker was here!"', because: 'Each item has its key; the types do not know.' },
  ],
};
