import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Statement {
  Action: string | string[];
  Resource: { 'Fn::GetAtt': [string, string] };
}

interface Resources {
  [logicalId: string]: {
    Type: string;
    Properties: {
      Role: { 'Fn::GetAtt': [string, string] };
      Roles: { Ref: string }[];
      PolicyDocument: { Statement: Statement[] };
    };
  };
}

/** What a function's role lets it do with the tables, as ACTION TABLE, the table by its logical id. */
export function databaseCallsOf(functionName: string, assembly: string): string[] {
  const { Resources } = JSON.parse(readFileSync(join(assembly, 'PlantStore.template.json'), 'utf8')) as {
    Resources: Resources;
  };
  const role = Resources[functionName]?.Properties.Role['Fn::GetAtt'][0];
  return Object.values(Resources)
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && Properties.Roles.some(({ Ref }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) => [Action].flat().map((action) => ({ action, Resource })))
    .filter(({ action }) => action.startsWith('dynamodb:'))
    .map(({ action, Resource }) => `${action.replace('dynamodb:', '')} ${Resource['Fn::GetAtt'][0]}`)
    .toSorted();
}
