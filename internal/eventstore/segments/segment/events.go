package segment

import "iter"

// Events returns all events in their order, for merging and copying. It ends with the
// first error.
func (f *File) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		var b Block
		for g := range f.groups {
			if err := f.Read(g, All, &b); err != nil {
				yield(nil, err)
				return
			}
			for i := range b.rows {
				e := b.Event(i)
				if !yield(&e, nil) {
					return
				}
			}
		}
	}
}

// Event returns the event of a row. All columns must have been read.
func (b *Block) Event(i int) Event {
	number := func(c Column) int64 { return b.numbers[c][b.codes[c][i]] }
	text := func(c Column) string { return b.texts[c][b.codes[c][i]] }
	return Event{
		App: number(App), At: b.at[i], ID: b.ids[i], Type: text(Type), Link: number(Link), Visitor: number(Visitor),
		Install: number(Install), Device: text(Device), OS: text(OS), Browser: text(Browser), Source: text(Source),
		Country: text(Country), Referrer: text(Referrer), Rule: text(Rule), Destination: text(Destination),
	}
}
