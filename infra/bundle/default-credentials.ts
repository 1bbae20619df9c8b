/*
 * Stands in the bundle for the SDK's chain of credential providers: on Lambda the credentials are in
 * the environment, and the others (profiles, SSO, containers, EC2) are 130 KB that never run.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
