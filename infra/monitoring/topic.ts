import { Stack } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';

export function addTopic(scope: Construct, email: string | undefined): Topic {
  const { stackName, account } = Stack.of(scope);
  // CloudWatch cannot use the AWS managed key of SNS.
  const masterKey = new Key(scope, 'TopicKey', {
    description: `Encrypts the alarms of ${stackName}`,
    enableKeyRotation: true,
  });
  const topic = new Topic(scope, 'Topic', { masterKey, enforceSSL: true });
  const conditions = { StringEquals: { 'aws:SourceAccount': account } };
  // Also grants CloudWatch the use of the key.
  topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }));
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  return topic;
}
