import { prime } from './database.ts';

/* The handler that one writes by hand, primed at init as the function is. */
await prime();

export { handler } from './bare-sdk.ts';
