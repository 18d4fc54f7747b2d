/** Instances of an incident by name, each with its link: the first few, then how many more. */
import type { InstanceId } from '../../../domain/instance.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import { link } from '../../router.ts'
import { number } from '../../words/count.ts'

/** More hide how many there are, and push down what stands below. */
const namesShown = 3

export function Names({ review, of }: { review: IncidentReview; of: readonly InstanceId[] }) {
  const names = new Map(review.lines.map(({ id, name }) => [id, name]))
  const rest = of.length - namesShown
  return (
    <>
      {of.slice(0, namesShown).map((id, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <a href={link.instance(review.id, id)}>{names.get(id) ?? id}</a>
        </span>
      ))}
      {rest > 0 && ` and ${number(rest)} more`}
    </>
  )
}
