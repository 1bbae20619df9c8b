import { type Check, tokenChecks } from '../shared/checks.ts';

const list = (limit: number) => ({ method: 'GET', path: `/plants?limit=${limit}` });

export const listPlantsChecks: Check[] = [
  { title: 'lists plants', request: () => list(1), expected: {} },
  ...tokenChecks(() => list(1)),
  { title: 'rejects a page without plants', request: () => list(0), expected: { error: 400 } },
];
