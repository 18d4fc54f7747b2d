/** Encrypted volumes: the key is read with the caller's token, and the key manager gives it only to the secret's own project. */
import type { SimInstance } from './model.ts'
import type { World } from './world.ts'

/** Null when the guest may be powered on with a token of that project, else the refusal (docs/nova.md §5). */
export function keyForbidden(world: World, instance: SimInstance, callerProject: string): string | null {
  const encrypted = instance.volumeIds.some((id) => world.volumes.get(id)?.encrypted === true)
  if (!encrypted || callerProject === instance.projectId) return null
  return 'Key manager error: Forbidden: Secret payload retrieval attempt not allowed - please review your user/project privileges'
}
