/** Whether an instance needs a key to start, and whether Lifeboat may have it fetched. */
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import type { Instance } from '../domain/instance.ts'

/** Volumes that cannot be read count as encrypted. Throws what the cloud throws. */
export async function readEncryption(
  cloud: Pick<Cloud, 'getVolumes' | 'mayActFor'>,
  { volumeIds, projectId }: Pick<Instance, 'volumeIds' | 'projectId'>,
  options?: CallOptions,
): Promise<{ encrypted: boolean; mayActForProject: boolean }> {
  if (volumeIds.length === 0) return { encrypted: false, mayActForProject: false }
  const volumes = await cloud.getVolumes(volumeIds, options)
  const encrypted = volumeIds.some((id) => volumes.get(id)?.encrypted !== false)
  return { encrypted, mayActForProject: encrypted && (await cloud.mayActFor(projectId, options)) }
}
