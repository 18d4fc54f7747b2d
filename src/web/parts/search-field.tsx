/** The field in which a list is searched as someone types. */

interface SearchFieldProps {
  /** Said to those who do not see the hint. */
  label: string
  hint: string
  value: string
  onSearch: (text: string) => void
}

export function SearchField({ label, hint, value, onSearch }: SearchFieldProps) {
  return (
    <label class="search">
      <span class="visually-hidden">{label}</span>
      <input type="search" placeholder={hint} value={value} onInput={(event) => onSearch(event.currentTarget.value)} />
    </label>
  )
}
