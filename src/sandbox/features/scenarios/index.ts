import type { SandboxFeature } from '../../feature.ts'

/** Links the app's scenarios, for support staff who show both. */
export const scenarios: SandboxFeature = {
  name: 'scenarios',
  create: ({ appUrl }) => ({ links: [{ href: `${appUrl}/scenarios`, label: 'Scenarios' }] }),
}
