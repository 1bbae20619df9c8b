import type { RemovalPolicy } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Api } from '../api.ts';
import type { CreatePlantFunction } from '../create-plant-function.ts';
import type { Data } from '../data.ts';
import { Alarms } from './alarms.ts';
import { Dashboard } from './dashboard.ts';
import { Outcomes } from './outcomes.ts';
import { Queries } from './queries.ts';

interface MonitoringProps {
  data: Data;
  createPlant: CreatePlantFunction;
  api: Api;
  alarmEmail: string | undefined;
  removalPolicy: RemovalPolicy;
}

/**
 * What shows how the store does: outcomes counted from the logs, alarms, a dashboard named after the
 * stack and its region, saved queries.
 *
 * Defaults: nobody is mailed until an address is given.
 */
export class Monitoring extends Construct {
  /** The alarms that show a bad release. */
  readonly rollBack: Alarm[];

  constructor(scope: Construct, id: string, { data, createPlant, api, alarmEmail, removalPolicy }: MonitoringProps) {
    super(scope, id);
    const logs = { functionLog: createPlant.logGroup, accessLog: api.accessLog };
    const outcomes = new Outcomes(this, 'Outcomes', logs);
    const watched = {
      outcomes,
      createPlant: createPlant.function,
      restApi: api.restApi,
      plants: data.plants,
      accessTokens: data.accessTokens,
    };
    const alarms = new Alarms(this, 'Alarms', { ...watched, email: alarmEmail, removalPolicy });
    new Dashboard(this, 'Dashboard', { ...watched, alarms, logGroups: Object.values(logs) });
    new Queries(this, 'Queries', { ...logs, restApi: api.restApi });
    this.rollBack = alarms.rollBack;
  }
}
