import { type Check, tokenChecks } from '../shared/checks.ts';

const list = (query: string) => ({ method: 'GET', path: `/plants?${query}` });

/** The checks of listPlants, in the order in which they run. The stored plants are unknown, so each page is accepted. */
export const listPlantsChecks: Check[] = [
  { title: 'lists plants', request: () => list('limit=1'), expected: {} },
  ...tokenChecks(() => list('limit=1')),
  { title: 'continues after an id beyond 2^53', request: (id) => list(`limit=1&cursor=${id}`), expected: {} },
  { title: 'rejects a limit of 0', request: () => list('limit=0'), expected: { error: 400 } },
  { title: 'rejects a cursor that is not an id', request: () => list('cursor=last'), expected: { error: 400 } },
];
