package page

import ("testing"; "golang.org/x/text/language")

func TestSizes(t *testing.T) {
	for base, tm := range official {
		v := ordinaryVisit(language.English)
		t.Log(base, len(tm.Append(nil, &v)), len(styles[base]))
		t.Log(len(tm.AppendNotice(nil, &Notice{Kind: Gone})))
	}
	v := ordinaryVisit(language.English)
	t.Log(string(official["ios"].Append(nil, &v)))
}
