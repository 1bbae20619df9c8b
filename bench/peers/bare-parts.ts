import { warmUp } from './database.ts';

/* The bare handler on the function's own client (see parts-client.ts), warmed up at init as the function is. */
await warmUp();

export { handler } from './bare-sdk.ts';
