import httpCors from '@middy/http-cors';
import { EXPOSED_HEADERS } from '../errors.ts';

/** Adds the CORS headers for the origins in ALLOW_ORIGINS, separated by commas. Without it, responses have none. */
export function cors() {
  const origins = process.env['ALLOW_ORIGINS']?.split(',');
  return origins ? httpCors({ origins, exposeHeaders: EXPOSED_HEADERS }) : [];
}
